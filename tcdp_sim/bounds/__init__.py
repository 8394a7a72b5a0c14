"""What is proved of accuracy: what the papers promise, and what no mechanism can do better."""

"""What is known of subsampling without simulating it: curves, profiles, accountings, and how they are drawn."""

"""One file for each tool. The functions have the names of the questions and import their libraries when called."""

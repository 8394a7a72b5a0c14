"""The tools that people use now beside this project, on the same questions in one run: `make bench-peers`."""

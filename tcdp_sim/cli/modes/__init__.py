"""What can be done with a study: one module a mode, each with `main(raw config, console)`."""

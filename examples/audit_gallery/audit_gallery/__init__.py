"""A gallery of broken and sound mechanisms with their exact laws: a measure for audits."""

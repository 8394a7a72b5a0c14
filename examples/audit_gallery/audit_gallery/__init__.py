"""A gallery of broken and sound mechanisms, with their exact laws, to audit and to be measured by."""

"""How privacy losses are drawn; the experiment is `privacy_loss`."""

"""EC2: account-level settings of a region, and the lists that moto does not know."""

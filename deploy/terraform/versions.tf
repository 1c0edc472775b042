terraform {
  # plantimestamp() came with 1.5.
  required_version = ">= 1.5"
}

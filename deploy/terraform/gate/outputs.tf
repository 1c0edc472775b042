output "id" {
  description = "Changes with each judgement that passed: depend on it to wait for one."
  value       = terraform_data.preflight.id
}

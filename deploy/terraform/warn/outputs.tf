output "findings" {
  description = "What failed, as the report has it."
  value       = local.findings
}

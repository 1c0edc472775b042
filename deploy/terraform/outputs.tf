output "id" {
  description = "Changes with each judgement: depend on it to wait for one. With on_findings = \"fail\" it is there only if the judgement passed."
  value       = one(concat(terraform_data.gate[*].id, terraform_data.report[*].id))
}

output "findings" {
  description = "With on_findings = \"warn\": what was found, as the report has it."
  value       = local.findings
}

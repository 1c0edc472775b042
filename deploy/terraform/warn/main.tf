# Warns, and never fails the apply, where Karpenter or EKS Auto Mode would not work.

locals {
  options = {
    "--region"             = var.region
    "--profile"            = var.profile
    "--assume-role"        = var.assume_role_arn
    "--karpenter-version"  = var.karpenter_version
    "--interruption-queue" = var.interruption_queue
    "--controller-role"    = var.controller_role
  }

  arguments = concat(
    ["check", "--cluster", var.cluster_name],
    flatten([for flag, value in local.options : [flag, value] if value != null]),
    flatten([for role in var.node_roles : ["--node-role", role]]),
    var.extra_arguments,
  )
}

resource "terraform_data" "preflight" {
  input            = var.report_file
  triggers_replace = concat(local.arguments, [jsonencode(var.triggers), plantimestamp()])

  provisioner "local-exec" {
    interpreter = concat([var.program], local.arguments)
    command     = "--output=json=${var.report_file}"
    on_failure  = continue
  }
}

locals {
  # Known only once the report was written, so that the check is made after it.
  report   = terraform_data.preflight.id == "" ? null : try(jsondecode(file(terraform_data.preflight.output)), null)
  findings = local.report == null ? [] : [for finding in local.report.outcomes : finding if finding.status == "fail"]
}

check "karpenter_preflight" {
  assert {
    condition     = local.report != null
    error_message = "karpenter-preflight gave no report: look at its output above."
  }

  assert {
    condition     = length(local.findings) == 0
    error_message = join("\n", concat(["Karpenter or EKS Auto Mode will not work here:"], [for finding in local.findings : "${finding.subject}: ${finding.seen}"]))
  }
}

# Judges the account after what it depends on was made. Where Karpenter or EKS Auto Mode would not
# work, it fails the apply with the report, or only warns: `on_findings` says which.

locals {
  options = {
    "--region"             = var.region
    "--profile"            = var.profile
    "--assume-role"        = var.assume_role_arn
    "--karpenter-version"  = var.karpenter_version
    "--interruption-queue" = var.interruption_queue
    "--controller-role"    = var.controller_role
    "--fail-on"            = var.fail_on
  }

  arguments = concat(
    ["check", "--cluster", var.cluster_name],
    flatten([for flag, value in local.options : [flag, value] if value != null]),
    flatten([for role in var.node_roles : ["--node-role", role]]),
    var.allow_unknown ? ["--allow-unknown"] : [],
    var.extra_arguments,
  )

  # The judgement is repeated when what it was asked about changes, when one of the caller's
  # triggers does, or at each apply.
  triggers = concat(local.arguments, [jsonencode(var.triggers)], var.always ? [timestamp()] : [])

  # The program is run without a shell: no value of a variable can be read as a command.
  interpreter = concat([var.program], local.arguments)
}

resource "terraform_data" "gate" {
  count            = var.on_findings == "fail" ? 1 : 0
  triggers_replace = local.triggers

  provisioner "local-exec" {
    interpreter = local.interpreter
    command     = "--output=human"
  }
}

resource "terraform_data" "report" {
  count            = var.on_findings == "warn" ? 1 : 0
  input            = var.report_file
  triggers_replace = local.triggers

  provisioner "local-exec" {
    interpreter = local.interpreter
    command     = "--output=json=${var.report_file}"
    on_failure  = continue
  }
}

locals {
  # Known only once the report was written, so that the check is made after it.
  file     = try(terraform_data.report[0].id == "" ? null : terraform_data.report[0].output, null)
  report   = local.file == null ? null : try(jsondecode(file(local.file)), null)
  counting = var.fail_on == "warn" ? ["fail", "warn"] : ["fail"]
  findings = [for finding in try(local.report.outcomes, []) : finding if contains(local.counting, finding.status)]
}

check "karpenter_preflight" {
  assert {
    condition     = var.on_findings != "warn" || local.report != null
    error_message = "karpenter-preflight gave no report: look at its output above."
  }

  assert {
    condition     = length(local.findings) == 0
    error_message = join("\n", concat(["Karpenter or EKS Auto Mode will not work here:"], [for finding in local.findings : "${finding.subject}: ${finding.seen}"]))
  }
}

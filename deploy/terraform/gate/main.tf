# Fails the apply, with the report, where Karpenter or EKS Auto Mode would not work.

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
}

resource "terraform_data" "preflight" {
  # The judgement is repeated when what it was asked about changes, when one of the caller's
  # triggers does, or at each apply.
  triggers_replace = concat(local.arguments, [jsonencode(var.triggers)], var.always ? [plantimestamp()] : [])

  # The program is run without a shell: no value of a variable can be read as a command.
  provisioner "local-exec" {
    interpreter = concat([var.program], local.arguments)
    command     = "--output=human"
  }
}

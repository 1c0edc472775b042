variable "cluster_name" {
  description = "Name of the EKS cluster."
  type        = string
}

variable "on_findings" {
  description = "Whether findings fail the apply, or are warnings of Terraform's: fail or warn."
  type        = string
  default     = "fail"

  validation {
    condition     = contains(["fail", "warn"], var.on_findings)
    error_message = "on_findings is fail or warn."
  }
}

variable "region" {
  description = "Region of the cluster; from the environment or profile if null."
  type        = string
  default     = null
}

variable "profile" {
  description = "Profile of the shared AWS configuration."
  type        = string
  default     = null
}

variable "assume_role_arn" {
  description = "A role to assume first."
  type        = string
  default     = null
}

variable "karpenter_version" {
  description = "The Karpenter version that runs or will run, such as 1.14.1."
  type        = string
  default     = null
}

variable "interruption_queue" {
  description = "Name of the queue in settings.interruptionQueue."
  type        = string
  default     = null
}

variable "controller_role" {
  description = "Role of Karpenter's controller, name or ARN."
  type        = string
  default     = null
}

variable "node_roles" {
  description = "Roles that nodes run with, names or ARNs."
  type        = list(string)
  default     = []
}

variable "fail_on" {
  description = "The lowest status that is a finding: fail or warn."
  type        = string
  default     = "fail"

  validation {
    condition     = contains(["fail", "warn"], var.fail_on)
    error_message = "fail_on is fail or warn."
  }
}

variable "allow_unknown" {
  description = "Whether checks without a verdict let an apply pass that findings would fail."
  type        = bool
  default     = false
}

variable "extra_arguments" {
  description = "More arguments of `karpenter-preflight check`, one list element each."
  type        = list(string)
  default     = []
}

variable "program" {
  description = "The program, if it is not on the PATH under its own name."
  type        = string
  default     = "karpenter-preflight"
}

variable "triggers" {
  description = "Whatever changes when the account should be judged again, such as the ids of the resources that Karpenter needs. Naming resources here also makes the judgement wait for them."
  type        = any
  default     = {}
}

variable "always" {
  description = "Judge at each apply, not only when a trigger changes."
  type        = bool
  default     = true
}

variable "report_file" {
  description = "With on_findings = \"warn\": where the report is kept, as JSON."
  type        = string
  default     = ".terraform/karpenter-preflight.json"
}

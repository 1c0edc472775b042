//! The long help texts of `policy`.

pub const PRINT_HELP: &str = "\
Examples:
  karpenter-preflight policy print controller --karpenter-version 1.14.1 --cluster prod \\
      --region eu-west-1 --account 111122223333 --interruption-queue prod
  karpenter-preflight policy print controller --karpenter-version 1.14.1 --cluster prod \\
      --format terraform > karpenter-controller.tf
  karpenter-preflight policy print cluster --product auto-mode --cluster prod \\
      --uses nodeclass-tags --format cloudformation

What is printed:
  json            one object: role, trust, managed_policy_arns, policies. With --only trust or
                  --only policy the bare document, as the AWS CLI takes it; with --out a
                  directory with one file a document
  terraform       a role, its policies and their attachments
  cloudformation  the same as a template (YAML)

JSON cannot say \"the account that this is attached in\", and a made-up account would be
attached as it is: it wants --region and --account where the documents name them. Terraform
then takes them from data sources, and CloudFormation from its pseudo parameters.";

pub const TEST_HELP: &str = "\
Examples:
  karpenter-preflight policy test --karpenter-version 1.14.1 --cluster prod controller.json
  terraform show -json plan.out | \\
      karpenter-preflight policy test --karpenter-version 1.14.1 --cluster prod -
  aws iam get-account-authorization-details > account.json && \\
      karpenter-preflight policy test --karpenter-version 1.14.1 --cluster prod \\
      --role KarpenterControllerRole-prod account.json

Several files of policy documents are taken together, as the policies of one role. The findings
are those of `check`; what only an account shows (whether the role exists, whether IAM has the
cluster's OIDC provider) is taken to be as it should.

With --boundary, --scp and --rcp, what these leave out counts too:
  karpenter-preflight policy test --karpenter-version 1.14.1 --cluster prod controller.json \\
      --boundary boundary.json --scp root-regions.json,root-imds.json --scp workloads.json

Exit codes, whatever the format:
  0  everything that was judged passed (warnings allowed unless --fail-on warn)
  1  at least one finding at or above --fail-on
  2  usage error, or a file that is no policy
  3  incomplete: something is not known, as before an apply (0 with --allow-unknown)";

pub const DIFF_HELP: &str = "\
Example:
  karpenter-preflight policy diff --from 1.6.8 --to 1.14.1 --cluster prod";

pub const SIMULATE_HELP: &str = "\
A line of input:
  {\"id\": 1,
   \"request\": {\"principal\": \"arn:aws:iam::111122223333:role/R\", \"action\": \"ec2:RunInstances\",
               \"resource\": \"*\", \"context\": {\"aws:RequestedRegion\": \"eu-west-1\"}},
   \"identityPolicies\": [{\"Statement\": …}, {\"name\": \"n\", \"policy\": {…}}]}

Optional: request.accountId (the resource's account; default: the one in its ARN, else the
principal's), unknownKeys, boundary, sessionPolicy, scps and rcps (a list of
lists, one a level), resourcePolicy, vpcePolicies. A key that is not in the context is absent.

A line of output:
  {\"id\": 1, \"decision\": \"allowed | implicitDeny | explicitDeny | unknown | error\",
   \"layer\"?, \"statement\"?, \"nearest\"?, \"unknownKeys\"?, \"message\"}

A line that cannot be read gives the decision `error`; the exit code is 0 all the same.";

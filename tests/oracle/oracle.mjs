// Decides each case of a JSON-lines file with @cloud-copilot/iam-simulate, a program of its own
// that is installed beside the repository and never part of it:
//   npm install --prefix DIR @cloud-copilot/iam-simulate
//   ORACLE_MODULES=DIR/node_modules node oracle.mjs < cases.jsonl > decisions.jsonl
// Each line out: {id, decision, ignored, errors?}. `ignored` are the context keys that the
// oracle dropped, because by its service data they do not belong to the action.
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'
import { once } from 'node:events'

const modules = process.env.ORACLE_MODULES
const require = createRequire(modules ? `${modules}/x.js` : import.meta.url)
const { runSimulation, anonymousPrincipal } = require('@cloud-copilot/iam-simulate')

const WORDS = {
  Allowed: 'allowed',
  ImplicitlyDenied: 'implicitDeny',
  ExplicitlyDenied: 'explicitDeny'
}

const named = (policies) =>
  (policies ?? []).map((p, i) => ('policy' in p ? p : { name: `p${i}`, policy: p }))
const levels = (lists) =>
  (lists ?? []).map((list, i) => ({ orgIdentifier: `level${i}`, policies: named(list) }))

function simulation(c) {
  const { principal, action, resource, accountId, context } = c.request
  const s = {
    request: {
      principal: principal === '*' ? anonymousPrincipal : principal,
      action,
      resource: { resource, accountId: accountId ?? principal.split(':')[4] },
      contextVariables: context ?? {}
    },
    identityPolicies: named(c.identityPolicies),
    serviceControlPolicies: levels(c.scps),
    resourceControlPolicies: levels(c.rcps)
  }
  if (c.boundary) s.permissionBoundaryPolicies = named([c.boundary])
  if (c.sessionPolicy) s.sessionPolicy = c.sessionPolicy
  if (c.resourcePolicy) s.resourcePolicy = c.resourcePolicy
  if (c.vpcePolicies) s.vpcEndpointPolicies = named(c.vpcePolicies)
  return s
}

let spent = 0
let count = 0
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue
  const c = JSON.parse(line)
  const started = process.hrtime.bigint()
  let out
  try {
    const r = await runSimulation(simulation(c), { simulationMode: 'Strict' })
    out =
      r.resultType === 'error'
        ? { id: c.id, decision: 'error', errors: r.errors }
        : {
            id: c.id,
            decision: WORDS[r.overallResult],
            ignored: r.result?.ignoredContextKeys ?? r.results?.[0]?.ignoredContextKeys ?? []
          }
  } catch (e) {
    out = { id: c.id, decision: 'error', errors: { message: String(e) } }
  }
  spent += Number(process.hrtime.bigint() - started)
  count += 1
  if (!process.stdout.write(JSON.stringify(out) + '\n')) await once(process.stdout, 'drain')
}
console.error(`oracle: ${count} cases, ${Math.round((count * 1e9) / spent)} decisions a second`)

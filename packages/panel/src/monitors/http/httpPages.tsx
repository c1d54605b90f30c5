import type { HttpMonitor, HttpMonitorInput } from "@scheduling/sdk"
import { authFacts } from "../../tasks/call/authFacts.tsx"
import type { FactsByName } from "../../ui/layout/Page.tsx"
import { LineList } from "../checks/checkFacts.tsx"
import { checkPages } from "../checks/checkPages.tsx"
import {
  HttpFields,
  httpInputOf,
  type HttpValues,
  httpValuesOf,
  newHttpValues
} from "./HttpFields.tsx"
import { HttpPreview } from "./HttpPreview.tsx"

const rulesOf = (monitor: HttpMonitor): ReadonlyArray<string> => [
  `status ${monitor.success_codes?.join(", ") ?? "200-299"}`,
  ...(monitor.body_contains === null ? [] : [`contains ${JSON.stringify(monitor.body_contains)}`]),
  ...(monitor.body_lacks === null
    ? []
    : [`does not contain ${JSON.stringify(monitor.body_lacks)}`]),
  ...(monitor.body_json === null
    ? []
    : [`${monitor.body_json.path} is ${JSON.stringify(monitor.body_json.equals)}`]),
  ...(monitor.max_latency_ms === null ? [] : [`within ${monitor.max_latency_ms} ms`]),
  ...(monitor.min_certificate_days === null
    ? []
    : [`certificate valid for ${monitor.min_certificate_days} days`])
]

const factsOf = (monitor: HttpMonitor): FactsByName => ({
  ...authFacts(monitor),
  ...(Object.keys(monitor.headers).length > 0 && {
    Headers: (
      <LineList of={Object.entries(monitor.headers).map(([name, value]) => `${name}: ${value}`)} />
    )
  }),
  Expected: <LineList of={rulesOf(monitor)} />
})

export const httpPages = checkPages<HttpMonitor, HttpValues, HttpMonitorInput>({
  kind: "http",
  resource: ({ httpMonitors }) => httpMonitors,
  form: {
    description:
      "You are notified when the URL does not respond as expected, and when it recovers.",
    action: "Create HTTP monitor",
    initial: newHttpValues,
    valuesOf: httpValuesOf,
    inputOf: httpInputOf,
    Fields: HttpFields,
    Preview: HttpPreview
  },
  factsOf
})

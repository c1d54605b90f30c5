import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Card, Facts } from "../../ui/layout/Page.tsx"
import { RoleGate } from "../../ui/role.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { formatDuration } from "../../ui/values/format.ts"
import { indentJson } from "../../ui/values/indentJson.ts"
import { Badge } from "../../ui/values/Status.tsx"
import { runOnFacts } from "../../workers/runOnValues.ts"
import { authFacts } from "./authFacts.tsx"
import { type CallOptions, completionLabels } from "./callOptionValues.ts"
import type { StoredCall } from "./callValues.ts"

export const CallFacts = ({ call }: { readonly call: StoredCall }) => {
  const { workspaceId } = useWorkspace()
  const headers = Object.entries(call.headers)
  return (
    <Card className="flex flex-col gap-4 p-5">
      <p className="flex items-start gap-2.5">
        <Badge>{call.method}</Badge>
        <span className="min-w-0 font-mono text-sm break-all">{call.url}</span>
      </p>
      {headers.length > 0 && (
        <Code
          label="headers"
          text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
        />
      )}
      {call.body !== null && <Code label="body" text={indentJson(call.body)} />}
      <Facts
        facts={{
          ...runOnFacts(call),
          ...authFacts(call),
          Timeout: formatDuration(call.timeout_seconds * 1_000),
          "Attempt finishes": call.completion && completionLabels[call.completion],
          Retries: retriesOf(call),
          "Success status codes": call.success_codes?.join(", "),
          "Response must contain": call.body_contains,
          "Response must not contain": call.body_lacks
        }}
      />
      {URL.canParse(call.url) && (
        <RoleGate role="admin">
          <Link
            to="/w/$workspaceId/settings"
            params={{ workspaceId }}
            search={{ receiver: new URL(call.url).origin }}
            className="text-sm text-live hover:underline"
          >
            View signing secret
          </Link>
        </RoleGate>
      )}
    </Card>
  )
}

const retriesOf = ({ retry, retry_count }: CallOptions & { readonly retry_count: number }) =>
  retry === null
    ? retry_count
    : `${retry_count}, the first after ${formatDuration(retry.first_seconds * 1_000)}, each further delay ${retry.factor} times the previous one, at most ${formatDuration(retry.max_seconds * 1_000)}`

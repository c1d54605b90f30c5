import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Only } from "../../ui/role.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { duration } from "../../ui/values/format.ts"
import { Card, Facts } from "../../ui/layout/Page.tsx"
import { pretty } from "../../ui/values/pretty.ts"
import { Badge } from "../../ui/values/Status.tsx"
import { runOnFacts } from "../../workers/runOnFacts.ts"
import type { RunsOn } from "../../workers/runOnValues.ts"
import type { CallOptions } from "./callOptionValues.ts"

/** What is called, for those who read. */
export const CallFacts = ({
  call
}: {
  readonly call: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | null
    readonly timeout_seconds: number
    readonly retry_count: number
  } & CallOptions &
    RunsOn
}) => {
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
      {call.body !== null && <Code label="body" text={pretty(call.body)} />}
      <Facts
        facts={[
          ...runOnFacts(call),
          ["Timeout", duration(call.timeout_seconds * 1_000)],
          ...(call.completion === undefined
            ? []
            : [["An attempt ends", endings[call.completion]] as const]),
          ["Retries", retriesOf(call)],
          ...successFacts(call)
        ]}
      />
      {URL.canParse(call.url) && (
        <Only role="admin">
          <Link
            to="/w/$workspaceId/settings"
            params={{ workspaceId }}
            search={{ receiver: new URL(call.url).origin }}
            className="text-sm text-live hover:underline"
          >
            Secrets that verify its calls
          </Link>
        </Only>
      )}
    </Card>
  )
}

const endings = {
  callback: "When the job calls back",
  auto: "When the job calls back, if the answer says so"
}

const retriesOf = ({ retry, retry_count }: CallOptions & { readonly retry_count: number }) =>
  retry === undefined
    ? retry_count
    : `${retry_count}, after ${duration(retry.first_seconds * 1_000)}, then ${retry.factor} times as long, at most ${duration(retry.max_seconds * 1_000)}`

const successFacts = ({ body_contains, body_lacks, success_codes }: CallOptions) => {
  const facts: ReadonlyArray<readonly [string, string | undefined]> = [
    ["Success", success_codes?.join(", ")],
    ["Must contain", body_contains],
    ["Must not contain", body_lacks]
  ]
  return facts.filter(([, value]) => value !== undefined)
}

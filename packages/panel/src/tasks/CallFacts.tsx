import { Code } from "../ui/Code.tsx"
import { duration } from "../ui/format.ts"
import { Card, Facts } from "../ui/Page.tsx"
import { pretty } from "../ui/pretty.ts"
import { Badge } from "../ui/Status.tsx"
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
  } & CallOptions
}) => {
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
          ["Timeout", duration(call.timeout_seconds * 1_000)],
          ["Retries", retriesOf(call)],
          ...successFacts(call)
        ]}
      />
    </Card>
  )
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

import type { Attempt } from "@scheduling/sdk"
import { Code } from "../ui/values/Code.tsx"
import { duration } from "../ui/values/format.ts"
import { pretty } from "../ui/values/pretty.ts"

/** Shows how long each phase of an attempt took, and which node or worker made it. */
export const AttemptParts = ({ attempt }: { readonly attempt: Attempt }) => {
  const { connect_ms, dns_ms, made_by, tls_ms, wait_ms } = attempt
  const parts = [
    ["DNS", dns_ms],
    ["connecting", connect_ms],
    ["TLS", tls_ms],
    ["waiting for the response", wait_ms]
  ] as const
  const taken = parts.flatMap(([part, ms]) => (ms === null ? [] : [`${part} ${duration(ms)}`]))
  const maker =
    made_by === null
      ? undefined
      : made_by.kind === "worker"
        ? `by the worker ${made_by.name ?? made_by.id}`
        : `by node ${made_by.id}`
  const all = maker === undefined ? taken : [...taken, maker]
  return all.length === 0 ? null : <p className="text-sm text-faint">{all.join(", ")}</p>
}

/** The sent request and the response headers, collapsed. */
export const AttemptMessages = ({ attempt }: { readonly attempt: Attempt }) => {
  const { number, request, response_headers } = attempt
  return (
    <>
      {response_headers !== null && (
        <Folded title="Response headers">
          <Code
            wrap
            label={`headers of the response to attempt ${number}`}
            text={linesOf(response_headers)}
          />
        </Folded>
      )}
      {request !== null && (
        <Folded title="Request">
          <Code
            wrap
            label={`request of attempt ${number}`}
            text={`${request.method} ${request.url}\n${linesOf(request.headers)}`}
          />
          {request.body !== null && (
            <Code wrap label={`body of attempt ${number}`} text={pretty(request.body)} />
          )}
        </Folded>
      )}
    </>
  )
}

const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n")

const Folded = ({
  children,
  title
}: {
  readonly title: string
  readonly children: React.ReactNode
}) => (
  <details>
    <summary className="cursor-pointer text-sm text-soft hover:text-ink">{title}</summary>
    <div className="mt-2 flex flex-col gap-2">{children}</div>
  </details>
)

import type { Attempt } from "@scheduling/sdk"
import { classes } from "../ui/classes.ts"
import { Code } from "../ui/values/Code.tsx"
import { formatDuration } from "../ui/values/format.ts"
import { indentJson } from "../ui/values/indentJson.ts"
import { phasesOf } from "./compare.ts"

/** A waterfall chart of an attempt's phases, with the node or worker that made the attempt. */
export const AttemptPhases = ({ attempt }: { readonly attempt: Attempt }) => {
  const { made_by } = attempt
  return (
    <>
      <Waterfall attempt={attempt} />
      {made_by !== null && (
        <p className="text-sm text-faint">
          Sent from {made_by.kind === "worker" ? "the worker" : "node"}{" "}
          <bdi>{made_by.name ?? made_by.id}</bdi>.
        </p>
      )}
    </>
  )
}

const Waterfall = ({ attempt }: { readonly attempt: Attempt }) => {
  const phases = phasesOf(attempt).flatMap(([phase, ms]) => (ms === null ? [] : [{ phase, ms }]))
  const total = Math.max(
    1,
    phases.reduce((sum, { ms }) => sum + ms, 0)
  )
  const slowest = Math.max(...phases.map(({ ms }) => ms))
  let before = 0
  return (
    <dl
      aria-label={`Phases of attempt ${attempt.number}`}
      className="grid grid-cols-[auto_1fr_auto] items-center gap-x-4 gap-y-1 text-sm empty:hidden"
    >
      {phases.map(({ ms, phase }) => {
        const left = (before / total) * 100
        before += ms
        return (
          <div key={phase} className="contents">
            <dt className="text-faint">{phase}</dt>
            <dd aria-hidden className="relative h-2 rounded-full bg-sunken">
              <span
                className={classes(
                  "absolute inset-y-0 min-w-0.5 rounded-full",
                  ms === slowest ? "bg-faint" : "bg-edge"
                )}
                style={{ left: `${left}%`, width: `${(ms / total) * 100}%` }}
              />
            </dd>
            <dd className="text-right nums">{formatDuration(ms)}</dd>
          </div>
        )
      })}
    </dl>
  )
}

/** The sent request and the response headers, collapsed. */
export const AttemptRequestAndHeaders = ({ attempt }: { readonly attempt: Attempt }) => {
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
            <Code
              wrap
              label={`request body of attempt ${number}`}
              text={indentJson(request.body)}
            />
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
    <summary className="cursor-pointer text-sm text-soft hover:text-ink pointer-coarse:py-2.5">
      {title}
    </summary>
    <div className="mt-2 flex flex-col gap-2">{children}</div>
  </details>
)

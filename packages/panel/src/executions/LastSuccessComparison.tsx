import type { ExecutionDetail } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import { Card, Section } from "../ui/layout/Page.tsx"
import { classes } from "../ui/classes.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { differencesOf } from "./compare.ts"

/** The differences between an execution and the last successful one before it. */
export const LastSuccessComparison = ({
  execution,
  good
}: {
  readonly execution: ExecutionDetail
  readonly good: ExecutionDetail
}) => {
  const { workspaceId } = useWorkspace()
  const differences = differencesOf(good, execution)
  return (
    <Section
      title="Compared with the last success"
      actions={
        <Link
          to="/w/$workspaceId/executions/$executionId"
          params={{ workspaceId, executionId: good.id }}
          className="text-sm font-medium text-live hover:underline"
        >
          <ShortTime at={good.scheduled_for} />
        </Link>
      }
    >
      <Card className="p-5">
        {differences.length === 0 ? (
          <p className="text-soft">The request, the response and the phases are the same.</p>
        ) : (
          <dl className="flex flex-col gap-4">
            {differences.map(({ field, good: was, this: is }) => (
              <div key={field} className="min-w-0">
                <dt className="mb-1.5 text-sm font-medium">{field}</dt>
                <dd className="grid gap-2 sm:grid-cols-2">
                  <Side field={field} title="Last success" text={was} other={is} />
                  <Side field={field} title="This execution" text={is} other={was} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
    </Section>
  )
}

/** Shows a text and highlights the lines that the other text does not have. */
const Side = ({
  field,
  other,
  text,
  title
}: {
  readonly field: string
  readonly title: string
  readonly text: string | undefined
  readonly other: string | undefined
}) => {
  const known = new Set(other?.split("\n"))
  return (
    <div className="min-w-0 rounded-lg border border-line bg-sunken px-3 py-2">
      <p className="text-xs text-faint">{title}</p>
      {text === undefined ? (
        <p className="text-sm text-faint">None</p>
      ) : (
        <pre
          tabIndex={0}
          role="region"
          aria-label={`${field}, ${title.toLowerCase()}`}
          className="max-h-60 overflow-auto font-mono text-sm wrap-anywhere whitespace-pre-wrap"
        >
          {text.split("\n").map((line, index) => (
            <span key={index} className={classes("block", !known.has(line) && "tint-warn")}>
              {line || " "}
            </span>
          ))}
        </pre>
      )}
    </div>
  )
}

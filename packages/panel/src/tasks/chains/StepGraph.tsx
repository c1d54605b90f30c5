import type { ChainRunDetail, ChainStep, RunIf } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { classes } from "../../ui/classes.ts"
import { Code } from "../../ui/Code.tsx"
import { pretty } from "../../ui/pretty.ts"
import { Badge, Status, type Tone, toneOf } from "../../ui/Status.tsx"
import { Duration } from "../../ui/Time.tsx"

const conditions: Readonly<Record<RunIf, string>> = {
  success: "if nothing failed",
  failure: "if something failed",
  always: "in any case"
}

const edges: Readonly<Record<Tone, string>> = {
  ok: "border-ok/60",
  bad: "border-bad/60",
  warn: "border-warn/60",
  live: "border-live/60",
  none: "border-line"
}

type RunStep = ChainRunDetail["steps"][number]

/** The steps from top to bottom, each with what became of it in the run that is looked at. */
export const StepGraph = ({
  run,
  steps
}: {
  readonly steps: ReadonlyArray<ChainStep>
  readonly run: ChainRunDetail | undefined
}) => (
  <ol className="flex flex-col">
    {steps.map((step, index) => {
      const done = run?.steps.find(({ name }) => name === step.name)
      return (
        <li key={step.name}>
          {index > 0 && <Edge condition={step.run_if} isTaken={done?.execution != null} />}
          <Step step={step} done={done} />
        </li>
      )
    })}
  </ol>
)

const Edge = ({ condition, isTaken }: { readonly condition: RunIf; readonly isTaken: boolean }) => (
  <div className="flex h-9 items-center gap-3 pl-7">
    <span
      aria-hidden
      className={classes(
        "h-full border-l-2",
        isTaken ? "border-edge" : "border-dashed border-line"
      )}
    />
    <span className="text-xs text-faint">{conditions[condition]}</span>
  </div>
)

const Step = ({ done, step }: { readonly step: ChainStep; readonly done: RunStep | undefined }) => {
  const tone = done === undefined ? "none" : toneOf(done.status)
  return (
    <details
      className={classes(
        "rounded-xl border-2 bg-surface shadow-card transition-colors duration-200",
        edges[tone]
      )}
    >
      <summary className="flex list-none items-center gap-4 rounded-xl px-4 py-3 hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        <span className="min-w-0 grow">
          <span className="block truncate font-medium">{step.name}</span>
          <span className="block truncate font-mono text-xs text-faint">
            {step.method} {step.url}
          </span>
        </span>
        {done !== undefined && (
          <span className="flex shrink-0 items-center gap-3 text-sm">
            {done.execution?.status_code != null && (
              <Badge tone={tone}>{done.execution.status_code}</Badge>
            )}
            {done.execution !== null && (
              <span className="text-faint max-sm:hidden">
                <Duration ms={done.execution.duration_ms} />
              </span>
            )}
            <Status of={done.status} />
          </span>
        )}
      </summary>
      <StepDetails step={step} done={done} />
    </details>
  )
}

const StepDetails = ({
  done,
  step
}: {
  readonly step: ChainStep
  readonly done: RunStep | undefined
}) => {
  const { workspaceId } = useWorkspace()
  const headers = Object.entries(step.headers)
  const execution = done?.execution ?? undefined
  return (
    <div className="flex flex-col gap-3 px-4 pb-4">
      {headers.length > 0 && (
        <Code
          label={`headers of ${step.name}`}
          text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
        />
      )}
      {step.body !== null && <Code label={`body of ${step.name}`} text={pretty(step.body)} />}
      {execution?.error != null && <p className="text-bad">{execution.error}</p>}
      {execution?.response_body != null && execution.response_body !== "" && (
        <>
          <p className="text-sm text-faint">Answer</p>
          <Code wrap label={`answer to ${step.name}`} text={pretty(execution.response_body)} />
        </>
      )}
      {execution !== undefined && (
        <Link
          to="/w/$workspaceId/executions/$executionId"
          params={{ workspaceId, executionId: execution.id }}
          className="text-sm font-medium text-live hover:underline"
        >
          All attempts
        </Link>
      )}
    </div>
  )
}

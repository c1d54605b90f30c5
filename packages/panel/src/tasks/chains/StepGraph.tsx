import type { Chain, ChainRunDetail, ChainStep, RunIf } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { classes } from "../../ui/classes.ts"
import { Code } from "../../ui/values/Code.tsx"
import { pretty } from "../../ui/values/pretty.ts"
import { Badge, Status, type Tone, toneOf } from "../../ui/values/Status.tsx"
import { Duration } from "../../ui/values/Time.tsx"

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
  chain,
  run
}: {
  readonly chain: Chain
  readonly run: ChainRunDetail | undefined
}) => {
  const isChanged = run !== undefined && Date.parse(chain.updated_at) > begunAt(run)
  const gone = run?.steps.filter(({ name }) => chain.steps.every((step) => step.name !== name))
  return (
    <>
      {isChanged && (
        <p className="mb-3 text-sm text-soft">
          The chain was changed after this run began, so the run may have sent something else than
          what is shown here.
        </p>
      )}
      <ol className="flex flex-col">
        {chain.steps.map((step, index) => {
          const done = run?.steps.find(({ name }) => name === step.name)
          return (
            <li key={step.name}>
              {index > 0 && <Edge condition={step.run_if} isTaken={done?.execution != null} />}
              <Step name={step.name} step={step} done={done} />
            </li>
          )
        })}
        {gone?.map((done) => (
          <li key={done.name} className="mt-3">
            <Step name={done.name} step={undefined} done={done} />
          </li>
        ))}
      </ol>
    </>
  )
}

const begunAt = ({ scheduled_for, started_at }: ChainRunDetail): number =>
  Date.parse(started_at ?? scheduled_for)

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

interface StepProps {
  /** Undefined for a step that the chain no longer has. */
  readonly step: ChainStep | undefined
  readonly done: RunStep | undefined
}

const Step = ({ done, name, step }: StepProps & { readonly name: string }) => {
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
          <span className="block truncate font-medium">{name}</span>
          {step === undefined ? (
            <span className="block truncate text-xs text-faint">No longer in the chain</span>
          ) : (
            <span className="block truncate font-mono text-xs text-faint">
              {step.method} {step.url}
            </span>
          )}
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
      <div className="flex flex-col gap-3 px-4 pb-4">
        {step !== undefined && <Request step={step} />}
        <Outcome name={name} done={done} />
      </div>
    </details>
  )
}

/** What was sent is not kept: only the answers are. */
const Request = ({ step: { body, headers, name, ...step } }: { readonly step: ChainStep }) => {
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`)
  const isFilled = [step.url, ...lines, body].some((text) => text?.includes("{{"))
  return (
    <>
      <p className="text-sm text-faint">
        Request, as the chain defines it now.
        {isFilled && (
          <>
            {" What stands in "}
            <code className="font-mono whitespace-nowrap">{"{{ }}"}</code>
            {" is filled in with answers of earlier steps."}
          </>
        )}
      </p>
      <Code
        wrap
        label={`request of ${name}`}
        text={[`${step.method} ${step.url}`, ...lines].join("\n")}
      />
      {body !== null && <Code label={`body of ${name}`} text={pretty(body)} />}
    </>
  )
}

const Outcome = ({ done, name }: { readonly name: string; readonly done: RunStep | undefined }) => {
  const { workspaceId } = useWorkspace()
  const execution = done?.execution ?? undefined
  return (
    <>
      {execution?.error != null && <p className="text-bad">{execution.error}</p>}
      {execution?.response_body != null && execution.response_body !== "" && (
        <>
          <p className="text-sm text-faint">Answer</p>
          <Code wrap label={`answer to ${name}`} text={pretty(execution.response_body)} />
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
    </>
  )
}

import type {
  ApproveStep,
  CallStep,
  Chain,
  ChainRunDetail,
  ChainStep,
  ExecutionId,
  RunIf,
  StepRequest,
  WaitStep
} from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { classes } from "../../ui/classes.ts"
import { Facts, Skeleton } from "../../ui/layout/Page.tsx"
import { rowNameClass, rowTextClass } from "../../ui/lists/List.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { indentJson } from "../../ui/values/indentJson.ts"
import { ApiMessage } from "../../ui/values/ApiMessage.tsx"
import { Badge, Status, type Tone, toneOf } from "../../ui/values/Status.tsx"
import { Duration, ExactTime } from "../../ui/values/Time.tsx"
import { runOnFacts } from "../../workers/runOnValues.ts"
import { authFacts } from "../call/authFacts.tsx"
import { runConditionLabels } from "./chainValues.ts"
import { stepRequestOptions } from "./chainKind.ts"

const edges: Readonly<Record<Tone, string>> = {
  ok: "border-ok/60",
  bad: "border-bad/60",
  warn: "border-warn/60",
  live: "border-live/60",
  none: "border-line"
}

type RunStep = ChainRunDetail["steps"][number]

/** Shows a chain's steps from top to bottom, with their results in the selected run. */
export const StepGraph = ({
  chain,
  run
}: {
  readonly chain: Chain
  readonly run: ChainRunDetail | undefined
}) => {
  const isChanged = run !== undefined && Date.parse(chain.updated_at) > startTimeOf(run)
  const gone = run?.steps.filter(({ name }) => chain.steps.every((step) => step.name !== name))
  return (
    <>
      {isChanged && (
        <p className="mb-3 text-sm text-soft">
          The chain was changed after this run started. The run may have sent requests that differ
          from those shown here.
        </p>
      )}
      <ol className="flex flex-col">
        {chain.steps.map((step, index) => {
          const done = run?.steps.find(({ name }) => name === step.name)
          return (
            <li key={step.name}>
              {index > 0 && <Edge condition={step.run_if} isTaken={done?.execution != null} />}
              <Step name={step.name} step={step} done={done} run={isChanged ? undefined : run} />
            </li>
          )
        })}
        {gone?.map((done) => (
          <li key={done.name} className="mt-3">
            <Step name={done.name} step={undefined} done={done} run={undefined} />
          </li>
        ))}
      </ol>
    </>
  )
}

const startTimeOf = ({ scheduled_for, started_at }: ChainRunDetail): number =>
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
    <span className="text-xs text-faint">{runConditionLabels[condition]}</span>
  </div>
)

interface StepProps {
  /** Undefined for a step that was removed from the chain. */
  readonly step: ChainStep | undefined
  readonly done: RunStep | undefined
  /**
   * Undefined if the chain has changed since the run started, so that the step's request is
   * unknown.
   */
  readonly run: ChainRunDetail | undefined
}

const Step = ({ done, name, run, step }: StepProps & { readonly name: string }) => {
  const tone = done === undefined ? "none" : toneOf(done.status)
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = toggled ?? done?.status === "failed"
  const started = done?.execution?.started_at == null ? undefined : done.execution
  return (
    <details
      open={isOpen}
      onToggle={(event) => setToggled(event.currentTarget.open)}
      className={classes(
        "rounded-xl border-2 bg-surface shadow-card transition-colors duration-200",
        edges[tone]
      )}
    >
      <summary className="flex list-none items-center gap-x-4 gap-y-1 rounded-xl px-4 py-3 max-sm:flex-wrap hover:bg-sunken/60 [&::-webkit-details-marker]:hidden">
        <span className="min-w-0 grow max-sm:basis-full">
          <span className={rowNameClass}>{name}</span>
          {step === undefined ? (
            <span className="block truncate text-xs text-faint">Removed from the chain</span>
          ) : step.kind === "call" ? (
            <span className={`${rowTextClass} font-mono text-xs text-faint`}>
              {step.method} {step.url}
            </span>
          ) : (
            <span className={`${rowTextClass} text-xs text-faint`}>{pauseText(step)}</span>
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
      <div className="flex flex-col gap-3 px-4 pt-1 pb-4">
        {done?.execution?.waits_until != null && (
          <p className="text-sm">
            Waits until <ExactTime at={done.execution.waits_until} />
          </p>
        )}
        {done?.execution?.approval != null && (
          <p className="text-sm">
            Waits for approval until <ExactTime at={done.execution.approval.until} />
          </p>
        )}
        {step?.kind === "call" &&
          (run !== undefined && started !== undefined ? (
            isOpen && <SentRequest run={run} step={step} executionId={started.id} />
          ) : (
            <DefinedRequest step={step} />
          ))}
        <Result name={name} done={done} />
      </div>
    </details>
  )
}

const pauseText = (step: WaitStep | ApproveStep): string =>
  step.kind === "wait" ? waitText(step) : (step.message ?? "Waits for approval")

const waitText = ({ seconds, until }: WaitStep): string =>
  until === null ? `Waits for ${(seconds ?? 0).toLocaleString("en")} s` : `Waits until ${until}`

const SentRequest = ({
  executionId,
  run,
  step
}: {
  readonly executionId: ExecutionId
  readonly run: ChainRunDetail
  readonly step: CallStep
}) => {
  const { workspaceId } = useWorkspace()
  const { data, isPending } = useQuery(stepRequestOptions(workspaceId, run, executionId))
  if (isPending) return <Skeleton className="h-24" />
  if (data === undefined) return <DefinedRequest step={step} />
  return (
    <>
      <p className="text-sm text-faint">
        The request as it was sent, without the headers that the service adds.
      </p>
      <RequestText name={step.name} request={data} />
    </>
  )
}

const DefinedRequest = ({ step }: { readonly step: CallStep }) => {
  const texts = [step.url, ...Object.values(step.headers), step.body]
  return (
    <>
      <p className="text-sm text-faint">
        The request as the chain currently defines it.
        {texts.some((text) => text?.includes("{{")) && (
          <>
            {" References in "}
            <code className="font-mono whitespace-nowrap">{"{{ }}"}</code>
            {" are replaced when the call is made."}
          </>
        )}
      </p>
      <RequestText name={step.name} request={step} />
      {(step.run_on !== null || step.auth !== null) && (
        <Facts facts={{ ...runOnFacts(step), ...authFacts(step) }} />
      )}
    </>
  )
}

const RequestText = ({
  name,
  request: { body, headers, method, url }
}: {
  readonly name: string
  readonly request: StepRequest
}) => {
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`)
  return (
    <>
      <Code wrap label={`request of ${name}`} text={[`${method} ${url}`, ...lines].join("\n")} />
      {body !== null && <Code label={`body of ${name}`} text={indentJson(body)} />}
    </>
  )
}

const Result = ({ done, name }: { readonly name: string; readonly done: RunStep | undefined }) => {
  const { workspaceId } = useWorkspace()
  const execution = done?.execution ?? undefined
  return (
    <>
      {execution?.error != null && (
        <p className="text-bad">
          <ApiMessage text={execution.error.message} />
        </p>
      )}
      {execution?.response_body != null && execution.response_body !== "" && (
        <>
          <p className="text-sm text-faint">Response</p>
          <Code wrap label={`response to ${name}`} text={indentJson(execution.response_body)} />
        </>
      )}
      {execution !== undefined && (
        <Link
          to="/w/$workspaceId/executions/$executionId"
          params={{ workspaceId, executionId: execution.id }}
          className="text-sm font-medium text-live hover:underline"
        >
          Open execution
        </Link>
      )}
    </>
  )
}

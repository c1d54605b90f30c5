import type { ExecutionDetail, ExecutionId } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { Send } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { maskedValue } from "../../ui/values/maskedValue.ts"
import { executionQueries } from "../../executions/queries.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { Section } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { RoleGate } from "../../ui/role.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { indentJson } from "../../ui/values/indentJson.ts"
import { Badge, Status, toneOf } from "../../ui/values/Status.tsx"
import { Duration } from "../../ui/values/Time.tsx"
import { callInputOf, type CallValues } from "./callValues.ts"

/** Makes the call in the form once, as a delayed task without retries, and shows the response. */
export const CallTester = ({
  action = "Make the call now",
  explanation = "Sends the call once, as a delayed task without retries.",
  name,
  title = "Test call",
  values
}: {
  readonly name: string
  readonly values: CallValues
  readonly title?: string
  /** The label of the button. */
  readonly action?: string
  /** The sentence that says what the test does. */
  readonly explanation?: string
}) => {
  const { api, workspaceId } = useWorkspace()
  const [execution, setExecution] = useState<ExecutionDetail>()
  const [problem, setProblem] = useState<unknown>()
  const hindrance = callTestHindranceOf(values)

  const test = async () => {
    setProblem(undefined)
    setExecution(undefined)
    try {
      const call = callInputOf(values)
      const { execution_id } = await api.delayed.create({
        ...call,
        name: `Test of ${name.trim() || call.url}`.slice(0, 200),
        completion: null,
        retry: null,
        retry_count: 0,
        delay_seconds: 0
      })
      if (execution_id !== null) await follow(execution_id)
    } catch (error) {
      setProblem(error)
    }
  }

  const follow = async (id: ExecutionId) => {
    let latest: ExecutionDetail
    do {
      latest = await api.executions.get(id, { wait_seconds: 30 })
      setExecution(latest)
    } while (latest.finished_at === null)
    await executionQueries.changed(workspaceId)
  }

  return (
    <RoleGate role="editor">
      <Section title={title}>
        <div className="flex flex-col items-start gap-3">
          <Button icon={<Send />} disabled={hindrance !== undefined} onClick={test}>
            {action}
          </Button>
          <p className="text-sm text-faint">{hindrance ?? explanation}</p>
          <Problem error={problem} />
          {execution !== undefined && <TestAnswer execution={execution} />}
        </div>
      </Section>
    </RoleGate>
  )
}

/** Returns the reason why the call cannot be tested. */
export const callTestHindranceOf = (values: CallValues): string | undefined => {
  const texts = [values.url, values.body, ...values.headers.map(([, value]) => value)]
  if (values.url.trim() === "") return "Enter a URL first."
  if (texts.some((text) => /\{\{\s*steps\./.test(text))) {
    return "The call uses the response of another step, so only a run of the chain can make it."
  }
  return texts.some((text) => text.includes(maskedValue))
    ? "Masked values are not available here. Use {{ secrets.NAME }} to test the call."
    : undefined
}

const TestAnswer = ({ execution }: { readonly execution: ExecutionDetail }) => {
  const { workspaceId } = useWorkspace()
  const { duration_ms, error, id, status, status_code } = execution
  const answer = execution.attempts.at(-1)?.response_body
  return (
    <div role="status" aria-label="Response" className="flex w-full min-w-0 flex-col gap-2">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Status of={status} />
        {status_code !== null && <Badge tone={toneOf(status)}>{status_code}</Badge>}
        <Duration ms={duration_ms} />
        <Link
          to="/w/$workspaceId/executions/$executionId"
          params={{ workspaceId, executionId: id }}
          target="_blank"
          className="text-sm font-medium text-live hover:underline"
        >
          Show the execution
        </Link>
      </p>
      {error !== null && <p className="text-bad wrap-anywhere">{error.message}</p>}
      {answer != null && answer !== "" && (
        <Code wrap label="response to the test call" text={indentJson(answer)} />
      )}
    </div>
  )
}

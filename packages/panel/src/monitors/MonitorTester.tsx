import type { RequestOptions, SchedulingClient } from "@scheduling/sdk"
import { Eye } from "lucide-react"
import { type ReactNode, useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { Button } from "../ui/actions/Button.tsx"
import { isSameValue } from "../ui/forms/merge.ts"
import { Section } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import { RoleGate } from "../ui/role.tsx"

/** A test takes up to 60 seconds, and is not repeated if it takes longer. */
const limits: RequestOptions = { timeoutMs: 75_000, maxRetries: 0 }

/**
 * Tests the monitor in the form without saving it. The result is hidden once the form changes,
 * because it would say nothing about the new values.
 */
export const MonitorTester = <Values, Input, Check>({
  children,
  explanation = "Checks once. Nothing is saved, and nobody is notified.",
  hindrance,
  inputOf,
  resource,
  values
}: {
  readonly values: Values
  readonly inputOf: (values: Values) => Input
  readonly resource: (api: SchedulingClient) => {
    readonly test: (input: Input, options: RequestOptions) => PromiseLike<Check>
  }
  /** The sentence that says what the test does. */
  readonly explanation?: string
  /** The reason why the monitor cannot be tested. */
  readonly hindrance: string | undefined
  /** Renders the result. */
  readonly children: (check: Check) => ReactNode
}) => {
  const { api } = useWorkspace()
  const [tested, setTested] = useState<{ readonly values: Values; readonly check: Check }>()
  const [problem, setProblem] = useState<unknown>()
  const test = async () => {
    setProblem(undefined)
    setTested(undefined)
    try {
      setTested({ values, check: await resource(api).test(inputOf(values), limits) })
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <RoleGate role="editor">
      <Section title="Test the monitor">
        <div className="flex flex-col items-start gap-3">
          <Button icon={<Eye />} disabled={hindrance !== undefined} onClick={test}>
            Check now
          </Button>
          <p className="text-sm text-faint">{hindrance ?? explanation}</p>
          <Problem error={problem} />
          {tested !== undefined && isSameValue(tested.values, values) && (
            <div role="status" aria-label="Test result" className="flex w-full flex-col gap-5">
              {children(tested.check)}
            </div>
          )}
        </div>
      </Section>
    </RoleGate>
  )
}

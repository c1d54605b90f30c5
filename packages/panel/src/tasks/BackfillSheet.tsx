import type { BackfillRequest, Backfill, BackfillSlots } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { executionQueries } from "../executions/queries.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { RadioButtons, Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { useForm } from "../ui/forms/useForm.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { Problem } from "../ui/messages/Problem.tsx"
import { now } from "../ui/values/clock.ts"
import { ShortTime } from "../ui/values/Time.tsx"
import { dateTimeInputOf } from "./schedule/firingOptionValues.ts"

interface Values {
  readonly from: string
  readonly to: string
  readonly only: BackfillSlots
}

const runsOf = (count: number) => (count === 1 ? "1 run" : `${count} runs`)

interface Props {
  readonly task: { readonly id: string; readonly name: string }
  readonly backfill: (id: string, request: BackfillRequest) => Promise<Backfill>
  readonly onClose: () => void
}

/** Runs a task for past times in its schedule. Shows the number of runs before starting them. */
export const BackfillSheet = ({ isOpen, ...props }: Props & { readonly isOpen: boolean }) => (
  <Sheet isOpen={isOpen} onClose={props.onClose} title={`Backfill ${props.task.name}`}>
    {isOpen && <BackfillForm {...props} />}
  </Sheet>
)

const lastDay = (): Values => ({
  from: dateTimeInputOf(new Date(now() - 86_400_000).toISOString()),
  to: dateTimeInputOf(new Date(now()).toISOString()),
  only: "missing"
})

const BackfillForm = ({ backfill, onClose, task }: Props) => {
  const { workspaceId } = useWorkspace()
  const [initial] = useState(lastDay)
  const form = useForm<Values>({
    initial,
    send: async (values) => {
      const { count } = await backfill(task.id, requestOf(values))
      showSuccessToast(count === 0 ? "No slots to run" : `${runsOf(count)} of ${task.name} queued`)
      void executionQueries.changed(workspaceId)
      onClose()
    }
  })
  const { errorOf, set, text, values } = form
  const counted = useQuery({
    queryKey: ["w", workspaceId, "backfill", task.id, values],
    queryFn: () => backfill(task.id, { ...requestOf(values), dry_run: true }),
    enabled: values.from !== "" && values.to !== "",
    retry: false
  })
  const slots = counted.data
  return (
    <form className="flex flex-col gap-5" onSubmit={form.submit}>
      <p className="text-sm text-soft">
        Runs past slots of the current schedule, in order. Each call gets the time of its slot.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="From" error={errorOf("from")}>
          <Input type="datetime-local" step={1} required {...text("from")} />
        </Field>
        <Field label="To" error={errorOf("to")}>
          <Input type="datetime-local" step={1} required {...text("to")} />
        </Field>
      </div>
      <RadioButtons
        label="Slots"
        hasLabel
        value={values.only}
        options={[
          ["missing", "Without an execution"],
          ["failed", "Failed"],
          ["all", "All"]
        ]}
        onChange={(only) => set({ only })}
      />
      <Problem error={counted.error} />
      <p role="status" className="min-h-5 text-sm">
        {slots === undefined ? null : slots.first === null || slots.last === null ? (
          "No slots to run."
        ) : (
          <>
            {runsOf(slots.count)}, for the slots from <ShortTime at={slots.first} /> to{" "}
            <ShortTime at={slots.last} />
          </>
        )}
      </p>
      <FormFooter
        form={form}
        action={slots === undefined || slots.count === 0 ? "Start" : `Start ${runsOf(slots.count)}`}
        needs="editor"
        onCancel={onClose}
      />
    </form>
  )
}

const requestOf = ({ from, only, to }: Values) => ({
  from: new Date(from),
  to: new Date(to),
  only
})

import type { Queue, QueueInput } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { parseTags } from "../ui/forms/parseTags.ts"
import { sendInput } from "../ui/forms/sendInput.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { Versions } from "../versions/Versions.tsx"
import { numberOrNull } from "./limitValues.ts"
import { queueQueries } from "./queries.ts"
import * as bounds from "../data/bounds.ts"

interface QueueValues {
  readonly version?: number
  readonly name: string
  readonly tags: string
  readonly max_concurrency: string
  readonly rate_per_second: string
}

const newQueue: QueueValues = { name: "", tags: "", max_concurrency: "2", rate_per_second: "" }

const queueValuesOf = (queue: Queue): QueueValues => ({
  version: queue.version,
  name: queue.name,
  tags: queue.tags.join(", "),
  max_concurrency: String(queue.max_concurrency ?? ""),
  rate_per_second: String(queue.rate_per_second ?? "")
})

const inputOf = (values: QueueValues) => ({
  name: values.name.trim(),
  tags: parseTags(values.tags),
  max_concurrency: numberOrNull(values.max_concurrency),
  rate_per_second: numberOrNull(values.rate_per_second)
})

export const QueueSheet = ({
  onClose,
  queue
}: {
  readonly queue?: Queue
  readonly onClose: () => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const form = useForm({
    initial: queue === undefined ? newQueue : queueValuesOf(queue),
    latest: queue && (async () => queueValuesOf(await api.queues.get(queue.id))),
    send: sendInput(inputOf, async (input, patch) => {
      await (queue === undefined
        ? // If the form has no limit, the service rejects it and says so.
          api.queues.create(input as QueueInput)
        : patch((changes) => api.queues.update(queue.id, changes)))
      showSuccessToast(`${input.name} was ${queue === undefined ? "created" : "changed"}`)
      void queueQueries.changed(workspaceId)
      onClose()
    })
  })
  return (
    <Sheet isOpen onClose={onClose} title={queue === undefined ? "New queue" : "Edit queue"}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field
          label="Name"
          hint="For example, the server that the queue's tasks call."
          error={form.errorOf("name")}
        >
          <Input
            {...form.text("name")}
            required
            {...bounds.QueueInput.name}
            autoFocus
            placeholder="Billing server"
          />
        </Field>
        <Field label="Tags" hint="Separate tags with commas." error={form.errorOf("tags")}>
          <Input {...form.text("tags")} placeholder="billing" />
        </Field>
        <Field
          label="Maximum concurrent runs"
          hint="Leave empty for no limit."
          error={form.errorOf("max_concurrency")}
        >
          <Input
            {...form.text("max_concurrency")}
            type="number"
            {...bounds.QueueInput.max_concurrency}
          />
        </Field>
        <Field
          label="Maximum starts per second"
          hint="0.2 means one start every 5 seconds. Leave empty for no limit."
          error={form.errorOf("rate_per_second")}
        >
          <Input
            {...form.text("rate_per_second")}
            type="number"
            {...bounds.QueueInput.rate_per_second}
            step="any"
          />
        </Field>
        <FormFooter
          form={form}
          action={queue === undefined ? "Create queue" : "Save changes"}
          onCancel={onClose}
        />
      </form>
      {queue !== undefined && (
        <div className="mt-8">
          <Versions
            record={queue}
            resource={api.queues}
            queryKey={queueQueries.all(workspaceId)}
            onRestored={async () => {
              await queueQueries.changed(workspaceId)
              onClose()
            }}
          />
        </div>
      )}
    </Sheet>
  )
}

import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input, Select } from "../ui/forms/Field.tsx"
import { FormEnd } from "../ui/forms/FormEnd.tsx"
import { tell } from "../ui/messages/toast.ts"
import { sendInput } from "../ui/forms/sendInput.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { labelsOf } from "./labelsOf.ts"
import { workersChanged } from "./queries.ts"
import * as bounds from "../data/bounds.ts"

const newWorker = { name: "", labels: "" }

const workerValuesOf = ({ labels, name }: Worker): typeof newWorker => ({
  name,
  labels: labels.join(", ")
})

const inputOf = ({ labels, name }: typeof newWorker) => ({
  name: name.trim(),
  labels: labelsOf(labels)
})

/** Makes a worker, or changes one. */
export const WorkerSheet = ({
  onClose,
  onCreated,
  worker
}: {
  readonly worker?: Worker | undefined
  readonly onClose: () => void
  readonly onCreated: (created: CreatedWorker) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const form = useForm({
    initial: worker === undefined ? newWorker : workerValuesOf(worker),
    latest: worker && (async () => workerValuesOf(await api.workers.get(worker.id))),
    send: sendInput(inputOf, async (input, patch) => {
      if (worker === undefined) onCreated(await api.workers.create(input))
      else {
        await patch((changes) => api.workers.update(worker.id, changes))
        tell(`${input.name} was changed`)
      }
      void workersChanged(workspaceId)
      onClose()
    })
  })
  return (
    <Sheet isOpen onClose={onClose} title={worker === undefined ? "New worker" : "Edit worker"}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Name" hint="For example, where the machine is." error={form.errorOf("name")}>
          <Input
            {...form.text("name")}
            required
            {...bounds.WorkerInput.name}
            autoFocus
            placeholder="Office, rack 2"
          />
        </Field>
        <Field
          label="Labels"
          hint="What it can reach. Tasks name the labels that their worker must have."
          error={form.errorOf("labels")}
        >
          <Input {...form.text("labels")} mono placeholder="office, gpu" />
        </Field>
        <FormEnd
          form={form}
          action={worker === undefined ? "Create worker" : "Save changes"}
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

const graces = [
  ["0", "No time: revoke it at once"],
  ["3600", "An hour"],
  ["86400", "A day"],
  ["604800", "A week"]
] as const

export const RotateSheet = ({
  onClose,
  onCreated,
  worker: { id, name }
}: {
  readonly worker: Worker
  readonly onClose: () => void
  readonly onCreated: (created: CreatedWorker) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const form = useForm({
    initial: { grace_seconds: "3600" },
    send: async ({ grace_seconds }) => {
      onCreated(await api.workers.rotate(id, { grace_seconds: Number(grace_seconds) }))
      void workersChanged(workspaceId)
      onClose()
    }
  })
  return (
    <Sheet isOpen onClose={onClose} title={`A new token for ${name}`}>
      <form className="flex flex-col gap-5" onSubmit={form.submit}>
        <Field label="Keep the old token working for" error={form.errorOf("grace_seconds")}>
          <Select {...form.text("grace_seconds")} options={graces} />
        </Field>
        <FormEnd form={form} action="Make a new token" onCancel={onClose} />
      </form>
    </Sheet>
  )
}

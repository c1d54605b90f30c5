import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { useWorkspace } from "../data/client.ts"
import { Sheet } from "../ui/actions/Dialog.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { sendInput } from "../ui/forms/sendInput.ts"
import { useForm } from "../ui/forms/useForm.ts"
import { parseLabels } from "./runOnValues.ts"
import { workerQueries } from "./queries.ts"
import * as bounds from "../data/bounds.ts"

const newWorker = { name: "", labels: "" }

const workerValuesOf = ({ labels, name }: Worker): typeof newWorker => ({
  name,
  labels: labels.join(", ")
})

const inputOf = ({ labels, name }: typeof newWorker) => ({
  name: name.trim(),
  labels: parseLabels(labels)
})

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
        showSuccessToast(`${input.name} was changed`)
      }
      void workerQueries.changed(workspaceId)
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
          hint="For example, the machine's network. A task runs only on workers that have all of its labels."
          error={form.errorOf("labels")}
        >
          <Input {...form.text("labels")} mono placeholder="office, gpu" />
        </Field>
        <FormFooter
          form={form}
          action={worker === undefined ? "Create worker" : "Save changes"}
          onCancel={onClose}
        />
      </form>
    </Sheet>
  )
}

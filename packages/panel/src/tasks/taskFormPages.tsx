import type { ExecutionKind, SchedulingClient } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useLocation, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { ComponentType } from "react"
import * as bounds from "../data/bounds.ts"
import { useWorkspace } from "../data/client.ts"
import { queryClient, bypassCache } from "../data/queries.ts"
import type { recordQueries } from "../data/recordQueries.ts"
import { taskKinds, taskLink } from "../data/tasks.ts"
import { type LimitValues, limitValuesOf } from "../queues/limitValues.ts"
import { Recipients } from "../recipients/Recipients.tsx"
import { Field, Input } from "../ui/forms/Field.tsx"
import { FormColumns } from "../ui/forms/FormColumns.tsx"
import { FormFooter } from "../ui/forms/FormFooter.tsx"
import type { FieldGroupProps } from "../ui/forms/inputProps.ts"
import { type SendInput, sendInput } from "../ui/forms/sendInput.ts"
import { parseTags } from "../ui/forms/parseTags.ts"
import { type FormOf, useForm } from "../ui/forms/useForm.ts"
import { Page } from "../ui/layout/Page.tsx"
import { Loaded, LoadedPage } from "../ui/messages/Loaded.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import { type CallbackValues, callbackValuesOf } from "./call/callbackValues.ts"
import { TaskListLink } from "./TaskPage.tsx"

export interface TaskValues extends CallbackValues, LimitValues {
  /** The edited task's version. Undefined for a new task. */
  readonly version?: number
  readonly name: string
  readonly tags: string
}

export const newTaskValues: TaskValues = {
  name: "",
  tags: "",
  ...limitValuesOf({ flow: null, queue_id: null, priority: 0 }),
  ...callbackValuesOf({ on_failure: null, on_success: null })
}

export const TaskNameField = ({
  errorOf,
  isRequired,
  onChange,
  placeholder,
  values
}: FieldGroupProps<TaskValues> & {
  readonly isRequired: boolean
  readonly placeholder: string
}) => (
  <Field label="Name" hint={isRequired ? undefined : "Optional."} error={errorOf("name")}>
    <Input
      name="name"
      value={values.name}
      onChange={({ target }) => onChange({ name: target.value })}
      required={isRequired}
      autoFocus
      {...bounds.CronTaskInput.name}
      placeholder={placeholder}
    />
  </Field>
)

export const TaskTagsField = ({ errorOf, onChange, values }: FieldGroupProps<TaskValues>) => (
  <Field label="Tags" hint="Separate tags with commas." error={errorOf("tags")}>
    <Input
      name="tags"
      value={values.tags}
      onChange={({ target }) => onChange({ tags: target.value })}
      placeholder="billing, nightly"
    />
  </Field>
)

interface AnyTask {
  readonly id: string
  readonly name: string | null
}

export const taskFormPages = <
  Task extends AnyTask,
  Values extends TaskValues,
  Input extends object
>({
  copyOf,
  Fields,
  initial,
  inputOf,
  kind,
  Preview,
  queries: { changed, one },
  resourceOf,
  valuesOf
}: {
  readonly kind: ExecutionKind
  readonly queries: Pick<ReturnType<typeof recordQueries<Task>>, "changed" | "one">
  readonly resourceOf: (api: SchedulingClient) => {
    readonly create: (input: Input) => Promise<Task>
    readonly update: (
      id: string,
      changes: Partial<Input> & { readonly version?: number | undefined }
    ) => Promise<unknown>
  }
  readonly initial: Values
  readonly valuesOf: (task: Task) => Values
  /** Returns the form values for a copy of a task. */
  readonly copyOf: (task: Task) => Values
  readonly inputOf: (values: Values) => Input
  readonly Fields: ComponentType<{
    readonly form: FormOf<Values>
    /** True if nothing has been filled in yet. */
    readonly isBlank: boolean
  }>
  /** A preview of the values' effect, beside the fields. */
  readonly Preview: ComponentType<{ readonly form: FormOf<Values> }>
}) => {
  const { name, noun } = taskKinds[kind]
  const inText = name.toLowerCase()

  const Form = ({
    action,
    initial: record,
    isBlank = false,
    latest,
    onCancel,
    onSend,
    taskId
  }: {
    readonly action: string
    readonly initial: Values
    readonly isBlank?: boolean
    readonly latest?: () => Promise<Values>
    readonly onCancel: () => void
    readonly onSend: SendInput<Input>
    /** Undefined for a new task. */
    readonly taskId?: string
  }) => {
    const { href: draftKey } = useLocation()
    const form = useForm({ draftKey, initial: record, latest, send: sendInput(inputOf, onSend) })
    return (
      <FormColumns
        onSubmit={form.submit}
        footer={
          <FormFooter isLong form={form} action={action} needs="editor" onCancel={onCancel} />
        }
        preview={
          <>
            <Preview form={form} />
            <Recipients
              title="Who would be notified"
              subject={{
                kind,
                id: taskId,
                tags: parseTags(form.values.tags),
                callback: form.values.on_failure
              }}
            />
          </>
        }
      >
        <Fields form={form} isBlank={isBlank} />
      </FormColumns>
    )
  }

  /** The new-task page. `from` in the URL is the id of the task to copy. */
  const New = () => {
    const { api, workspaceId } = useWorkspace()
    const { from } = useSearch({ strict: false })
    const navigate = useNavigate()
    const navigateAfterAction = useNavigateAfterAction()
    const original = useQuery({ ...one(workspaceId, from ?? ""), enabled: from !== undefined })
    const form = (values: Values, isBlank: boolean) => (
      <Form
        action={`Create ${inText}`}
        initial={values}
        isBlank={isBlank}
        onCancel={() => void navigate({ to: `/w/$workspaceId/${noun}`, params: { workspaceId } })}
        onSend={async (input) => {
          const created = await resourceOf(api).create(input)
          showSuccessToast(`${created.name ?? `The ${inText}`} was created`)
          void changed(workspaceId)
          await navigateAfterAction(taskLink(workspaceId, kind, created.id))
        }}
      />
    )
    return (
      <Page title={`New ${inText}`}>
        {from === undefined ? (
          form(initial, true)
        ) : (
          <Loaded query={original} height="h-96">
            {(task) => form(copyOf(task), false)}
          </Loaded>
        )}
      </Page>
    )
  }

  const Edit = () => {
    const { api, workspaceId } = useWorkspace()
    const { taskId = "" } = useParams({ strict: false })
    const navigate = useNavigate()
    const navigateAfterAction = useNavigateAfterAction()
    const options = one(workspaceId, taskId)
    const shown = taskLink(workspaceId, kind, taskId)
    const above = <TaskListLink kind={kind} />
    return (
      <LoadedPage query={useQuery(options)} name="Edit" above={above}>
        {(task) => (
          <Page title={`Edit ${task.name ?? inText}`} above={above}>
            <Form
              action="Save changes"
              taskId={taskId}
              initial={valuesOf(task)}
              latest={async () => valuesOf(await queryClient.fetchQuery(bypassCache(options)))}
              onCancel={() => void navigate(shown)}
              onSend={async (_, patch) => {
                await patch((changes) => resourceOf(api).update(taskId, changes))
                showSuccessToast(`${task.name ?? `The ${inText}`} was changed`)
                await changed(workspaceId)
                await navigateAfterAction(shown)
              }}
            />
          </Page>
        )}
      </LoadedPage>
    )
  }

  return { New, Edit }
}

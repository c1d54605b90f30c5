import type { ExecutionKind } from "@scheduling/sdk"
import { useQuery, type UseQueryOptions } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { taskKinds } from "../data/tasks.ts"
import { NobodyNotified } from "../recipients/NobodyNotified.tsx"
import type { RecipientsSubject } from "../recipients/queries.ts"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { Page } from "../ui/layout/Page.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"

export const TaskListLink = ({ kind }: { readonly kind: ExecutionKind }) => {
  const { workspaceId } = useWorkspace()
  return (
    <ParentPageLink to={`/w/$workspaceId/${taskKinds[kind].noun}`} params={{ workspaceId }}>
      {taskKinds[kind].plural}
    </ParentPageLink>
  )
}

export const TaskPage = <Task extends object>({
  actions,
  children,
  description,
  kind,
  name,
  options,
  recipients,
  title
}: {
  readonly kind: ExecutionKind
  readonly options: UseQueryOptions<Task, Error, Task, Array<string>>
  readonly name: (task: Task) => string
  readonly title?: (task: Task) => ReactNode
  readonly description?: (task: Task) => ReactNode
  readonly actions: (task: Task) => ReactNode
  /** Returns what determines who is notified. Undefined for a task that no longer runs. */
  readonly recipients: (task: Task) => RecipientsSubject | undefined
  readonly children: (task: Task) => ReactNode
}) => {
  const above = <TaskListLink kind={kind} />
  return (
    <LoadedPage query={useQuery(options)} name={taskKinds[kind].name} above={above}>
      {(task) => {
        const subject = recipients(task)
        return (
          <Page
            name={name(task)}
            above={above}
            title={title?.(task) ?? name(task)}
            description={description?.(task)}
            actions={actions(task)}
          >
            {subject !== undefined && <NobodyNotified subject={subject} />}
            {children(task)}
          </Page>
        )
      }}
    </LoadedPage>
  )
}

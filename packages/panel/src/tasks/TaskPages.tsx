import { useQuery, type UseQueryOptions } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useWorkspace } from "../data/client.ts"
import { anew, queries } from "../data/queries.ts"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import { Page, Skeleton } from "../ui/layout/Page.tsx"
import { Problem } from "../ui/messages/Problem.tsx"
import type { Noun } from "./taskQueries.ts"
import { useOriginal } from "./useOriginal.ts"

/** How a kind is called on pages. */
export interface TaskWords {
  readonly noun: Noun
  /** `Cron tasks` */
  readonly title: string
  /** `Cron task` */
  readonly one: string
}

type One<Task> = UseQueryOptions<Task, Error, Task, Array<string>>

const Above = ({ words: { noun, title } }: { readonly words: TaskWords }) => {
  const { workspaceId } = useWorkspace()
  return (
    <AboveLink to={`/w/$workspaceId/${noun}`} params={{ workspaceId }}>
      {title}
    </AboveLink>
  )
}

/** The page of one task: it has a frame until the task is read, and `children` show it. */
export const TaskPage = <Task extends object>({
  actions,
  children,
  description,
  name,
  one,
  title,
  words
}: {
  readonly words: TaskWords
  readonly one: One<Task>
  readonly name: (task: Task) => string
  readonly title?: (task: Task) => ReactNode
  readonly description?: (task: Task) => string
  readonly actions: (task: Task) => ReactNode
  readonly children: (task: Task) => ReactNode
}) => {
  const { data: task, error, refetch } = useQuery(one)
  const above = <Above words={words} />
  if (task === undefined) {
    return (
      <Page title={<Skeleton className="h-7 w-64" />} name={words.one} above={above}>
        {error === null ? <Skeleton className="h-96" /> : <Problem error={error} retry={refetch} />}
      </Page>
    )
  }
  return (
    <Page
      name={name(task)}
      above={above}
      title={title?.(task) ?? name(task)}
      description={description?.(task)}
      actions={actions(task)}
    >
      {children(task)}
    </Page>
  )
}

/** The page on which a task is changed. `latest` reads the values again before they are sent. */
export const EditTaskPage = <Task extends { readonly name: string }, Values>({
  form,
  one,
  valuesOf,
  words
}: {
  readonly words: TaskWords
  readonly one: One<Task>
  readonly valuesOf: (task: Task) => Values
  readonly form: (initial: Values, latest: () => Promise<Values>) => ReactNode
}) => {
  const { data: task, error } = useQuery(one)
  return (
    <Page
      title={task === undefined ? "Edit" : `Edit ${task.name}`}
      width="narrow"
      above={<Above words={words} />}
    >
      {task === undefined ? (
        error === null ? (
          <Skeleton className="h-96" />
        ) : (
          <Problem error={error} />
        )
      ) : (
        form(valuesOf(task), async () => valuesOf(await queries.fetchQuery(anew(one))))
      )}
    </Page>
  )
}

/** The page on which a task is created, perhaps as a copy of the task `from`. */
export const NewTaskPage = <Task,>({
  form,
  from,
  one,
  words
}: {
  readonly words: TaskWords
  readonly from: string | undefined
  readonly one: One<Task>
  readonly form: (original: Task | undefined) => ReactNode
}) => {
  const original = useOriginal(from, one)
  if (original === null) return <Skeleton className="m-8 h-96" />
  return (
    <Page title={`New ${words.one.toLowerCase()}`} width="narrow">
      {form(original)}
    </Page>
  )
}

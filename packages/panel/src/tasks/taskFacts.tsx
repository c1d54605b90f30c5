import type { CronTask } from "@scheduling/sdk"
import { queueFacts } from "../queues/QueueLink.tsx"
import { CopyText } from "../ui/values/Copy.tsx"
import { At } from "../ui/values/Time.tsx"
import { callbackFacts, type Callbacks } from "./call/callbackValues.ts"
import { firingOptionFacts } from "./schedule/firingOptionFacts.tsx"
import type { FiringOptions } from "./schedule/firingOptionValues.ts"

type Facts = Pick<CronTask, "created_at" | "queue_id"> & { readonly id: string } & Callbacks &
  FiringOptions

/** What the pages of all kinds of tasks show at the end of the facts. */
export const taskFacts = (task: Facts) =>
  [
    ...firingOptionFacts(task),
    ...queueFacts(task),
    ...callbackFacts(task),
    ["Created", <At key="created" at={task.created_at} />],
    ["Id", <CopyText key="id" text={task.id} />]
  ] as const

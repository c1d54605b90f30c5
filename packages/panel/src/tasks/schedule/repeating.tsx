import { Pause, RotateCcw, Trash2 } from "lucide-react"
import type { BulkAction } from "../BulkBar.tsx"

interface Repeats {
  readonly pause: (id: string) => Promise<unknown>
  readonly resume: (id: string) => Promise<unknown>
  readonly remove: (id: string) => Promise<unknown>
}

/** What can be done with many that repeat. */
export const bulkOfRepeating = (
  api: Repeats,
  warning: string
): ReadonlyArray<BulkAction<{ readonly id: string }>> => [
  {
    name: "Pause",
    icon: <Pause className="size-3.5" />,
    done: "is paused",
    act: ({ id }) => api.pause(id)
  },
  {
    name: "Resume",
    icon: <RotateCcw className="size-3.5" />,
    done: "is active again",
    act: ({ id }) => api.resume(id)
  },
  {
    name: "Delete",
    icon: <Trash2 className="size-3.5" />,
    done: "was deleted",
    act: ({ id }) => api.remove(id),
    warning
  }
]

/** What lists of what repeats are narrowed to. */
export const statusesOfRepeating = [
  ["active", "Active"],
  ["paused", "Paused"]
] as const

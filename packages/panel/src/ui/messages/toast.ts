import { ApiError } from "@scheduling/sdk"
import { plain } from "../values/plain.ts"
import { messageOf } from "./Problem.tsx"

export interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly requestId: string | undefined
}

let toasts: ReadonlyArray<Toast> = []
let lastId = 0
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Toast>) => {
  toasts = next
  for (const listener of listeners) listener()
}

export const shownToasts = (): ReadonlyArray<Toast> => toasts

export const onToasts = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const dismiss = (id: number): void => change(toasts.filter((toast) => toast.id !== id))

const show = (toast: Omit<Toast, "id">, forMs: number) => {
  const id = ++lastId
  change([...toasts.slice(-3), { ...toast, id, text: plain(toast.text) }])
  window.setTimeout(() => dismiss(id), forMs)
}

/** Says in passing that something was done. */
export const tell = (text: string): void =>
  show({ text, isBad: false, requestId: undefined }, 4_000)

/** Says that something failed, for things without a place of their own for it. */
export const tellProblem = (error: unknown): void =>
  show(
    {
      text: messageOf(error),
      isBad: true,
      requestId: error instanceof ApiError ? error.requestId : undefined
    },
    10_000
  )

/** Does something and says in passing that it was done, or why it was not. */
export const attempt = async (work: () => Promise<unknown>, done: string): Promise<void> => {
  try {
    await work()
    tell(done)
  } catch (error) {
    tellProblem(error)
  }
}

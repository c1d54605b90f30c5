import { ApiError } from "@scheduling/sdk"
import { createStore } from "../store.ts"
import { plain } from "../values/plain.ts"
import { messageOf } from "./Problem.tsx"

interface Toast {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
  readonly requestId: string | undefined
}

export const toasts = createStore<ReadonlyArray<Toast>>([])

let lastId = 0

export const dismiss = (id: number): void =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id))

const show = (toast: Omit<Toast, "id">, forMs: number) => {
  const id = ++lastId
  toasts.set([...toasts.get().slice(-3), { ...toast, id, text: plain(toast.text) }])
  window.setTimeout(() => dismiss(id), forMs)
}

/** Shows for a few seconds that something was done. */
export const notify = (text: string): void =>
  show({ text, isBad: false, requestId: undefined }, 4_000)

/** Shows a failure for a while, where the page has no place for it. */
export const notifyProblem = (error: unknown): void => {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  show({ text: messageOf(error), isBad: true, requestId }, 10_000)
}

/** Does something and shows for a while that it was done, or why it failed. */
export const attempt = async (work: () => Promise<unknown>, done: string): Promise<void> => {
  try {
    await work()
    notify(done)
  } catch (error) {
    notifyProblem(error)
  }
}

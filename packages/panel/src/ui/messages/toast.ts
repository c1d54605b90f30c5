import { createStore } from "../store.ts"
import { stripDirectionMarks } from "../values/stripDirectionMarks.ts"

interface Toast {
  readonly id: number
  readonly text: string
  /** Undefined for a success message. */
  readonly error?: unknown
}

export const toasts = createStore<ReadonlyArray<Toast>>([])

let lastId = 0

export const dismissToast = (id: number): void =>
  toasts.set(toasts.get().filter((toast) => toast.id !== id))

const show = (toast: Omit<Toast, "id">, forMs: number) => {
  const id = ++lastId
  toasts.set([...toasts.get().slice(-3), { ...toast, id, text: stripDirectionMarks(toast.text) }])
  window.setTimeout(() => dismissToast(id), forMs)
}

/** Shows a success message for a few seconds. */
export const showSuccessToast = (text: string): void => show({ text }, 4_000)

/** Shows an error for a few seconds, for pages that cannot show it themselves. */
export const showErrorToast = (error: unknown): void => show({ text: "", error }, 10_000)

/** Runs the work and shows either the success message or the error in a toast. */
export const runWithToast = async (work: () => Promise<unknown>, done: string): Promise<void> => {
  try {
    await work()
    showSuccessToast(done)
  } catch (error) {
    showErrorToast(error)
  }
}

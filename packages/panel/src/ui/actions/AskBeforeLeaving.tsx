import { useBlocker } from "@tanstack/react-router"
import { Confirm } from "./Dialog.tsx"

/** Asks before the page is left for another one, while `mayLose` says that something would be lost. */
export const AskBeforeLeaving = ({
  children,
  mayLose,
  title
}: {
  readonly mayLose: () => boolean
  readonly title: string
  /** What would be lost. */
  readonly children: string
}) => {
  const { proceed, reset, status } = useBlocker({
    // What narrows a page is in its address too, and loses nothing.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && mayLose(),
    enableBeforeUnload: mayLose,
    withResolver: true
  })
  return (
    <Confirm
      isOpen={status === "blocked"}
      title={title}
      action="Leave"
      onClose={() => reset?.()}
      onConfirm={async () => proceed?.()}
    >
      {children}
    </Confirm>
  )
}

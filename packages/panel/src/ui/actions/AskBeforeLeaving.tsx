import { useBlocker } from "@tanstack/react-router"
import { Confirm } from "./Dialog.tsx"

/** Asks before the reader leaves the page while `mayLose` says that something would be lost. */
export const AskBeforeLeaving = ({
  children,
  mayLose,
  title
}: {
  readonly mayLose: () => boolean
  readonly title: string
  readonly children: string
}) => {
  const { proceed, reset, status } = useBlocker({
    // A changed filter is a navigation to the same path, which loses nothing.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && mayLose(),
    enableBeforeUnload: mayLose,
    withResolver: true
  })
  return (
    <Confirm
      isOpen={status === "blocked"}
      title={title}
      action="Leave page"
      onClose={() => reset?.()}
      onConfirm={async () => proceed?.()}
    >
      {children}
    </Confirm>
  )
}

import { useBlocker } from "@tanstack/react-router"
import { Confirm } from "./Dialog.tsx"

/** Asks for confirmation before the user leaves the page, if `mayLose` returns true. */
export const LeaveConfirmation = ({
  children,
  mayLose,
  title
}: {
  readonly mayLose: () => boolean
  readonly title: string
  readonly children: string
}) => {
  const { proceed, reset, status } = useBlocker({
    // Changing a filter navigates to the same path and loses nothing.
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

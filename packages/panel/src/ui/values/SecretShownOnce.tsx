import { type ReactNode, useRef } from "react"
import { LeaveConfirmation } from "../actions/LeaveConfirmation.tsx"
import { Code } from "./Code.tsx"
import { OnCopy } from "./Copy.tsx"

export const SecretShownOnce = ({
  children,
  label,
  secret,
  title
}: {
  readonly title: string
  readonly label: string
  readonly secret: string
  readonly children?: ReactNode
}) => {
  const kept = useRef<string>(undefined)
  const keep = () => {
    kept.current = secret
  }
  return (
    <div
      className="flex min-w-0 flex-col gap-3 rounded-xl border border-live/40 tint-live p-5"
      onCopy={keep}
    >
      <p role="status" className="font-semibold">
        {title}
      </p>
      <OnCopy value={keep}>
        <Code label={label} text={secret} wrap />
        {children}
      </OnCopy>
      <LeaveConfirmation title="Leave without copying?" mayLose={() => kept.current !== secret}>
        {`You have not copied the ${label}. It cannot be shown again.`}
      </LeaveConfirmation>
    </div>
  )
}

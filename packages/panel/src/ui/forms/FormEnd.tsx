import type { Role } from "@scheduling/sdk"
import { useRef } from "react"
import { AskBeforeLeaving } from "../actions/AskBeforeLeaving.tsx"
import { Button } from "../actions/Button.tsx"
import { Problem } from "../messages/Problem.tsx"
import { useMay, whoMay } from "../role.tsx"
import { Meanwhile } from "./Meanwhile.tsx"
import type { Edits } from "./useEdits.ts"

/** The end of a form: what is wrong with it as a whole, and the button. */
export const FormEnd = ({
  action,
  form,
  isLong = false,
  look = "main",
  needs,
  onCancel
}: {
  /** What the button says. */
  readonly action: string
  readonly form: {
    readonly problem: unknown
    readonly isBusy: boolean
    readonly isChanged: boolean
    readonly attention: ReadonlyArray<string>
    readonly edits: Edits
  }
  /** Whether a field may be out of sight of the button, and much would be typed again. */
  readonly isLong?: boolean
  readonly look?: "main" | "danger" | "plain"
  readonly onCancel?: () => void
  /** Who may send it. The others are told so. */
  readonly needs?: Role
}) => {
  const { attention } = form
  const isGivenUp = useRef(false)
  const isHeld = !useMay()(needs)
  return (
    <div className="flex flex-col gap-4">
      <Meanwhile edits={form.edits} />
      <Problem error={form.problem} />
      {isLong && attention.length > 0 && (
        <p className="text-sm text-bad">
          {attention.length === 1
            ? "1 field needs attention"
            : `${attention.length} fields need attention`}
          : {attention.join(", ")}
        </p>
      )}
      {isHeld && needs !== undefined && <p className="text-sm text-soft">{whoMay(needs)}</p>}
      <div className="flex gap-2">
        <Button type="submit" look={look} busy={form.isBusy} disabled={isHeld}>
          {action}
        </Button>
        {onCancel !== undefined && (
          <Button
            onClick={() => {
              isGivenUp.current = true
              onCancel()
            }}
          >
            Cancel
          </Button>
        )}
      </div>
      {isLong && (
        <AskBeforeLeaving
          title="Leave without saving?"
          mayLose={() => form.isChanged && !form.isBusy && !isGivenUp.current}
        >
          What you typed here is lost.
        </AskBeforeLeaving>
      )}
    </div>
  )
}

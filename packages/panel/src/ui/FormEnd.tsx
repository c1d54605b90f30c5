import { Button } from "./Button.tsx"
import { Problem } from "./Problem.tsx"

/** The end of a form: what is wrong with it as a whole, and the button. */
export const FormEnd = ({
  action,
  form,
  look = "main",
  onCancel
}: {
  /** What the button says. */
  readonly action: string
  readonly form: { readonly problem: unknown; readonly isBusy: boolean }
  readonly look?: "main" | "danger" | "plain"
  readonly onCancel?: () => void
}) => (
  <div className="flex flex-col gap-4">
    <Problem error={form.problem} />
    <div className="flex gap-2">
      <Button type="submit" look={look} busy={form.isBusy}>
        {action}
      </Button>
      {onCancel !== undefined && <Button onClick={onCancel}>Cancel</Button>}
    </div>
  </div>
)

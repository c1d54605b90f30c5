import type { FormEventHandler, ReactNode } from "react"
import { FoldedSection } from "../layout/FoldedSection.tsx"
import { useIsWide } from "../layout/screenWidth.ts"

/**
 * A form with a preview of its values' effect, which is beside the fields if there is room, and
 * otherwise folded below them.
 */
export const FormColumns = ({
  children,
  footer,
  onSubmit,
  preview
}: {
  readonly children: ReactNode
  readonly footer: ReactNode
  readonly onSubmit: FormEventHandler<HTMLFormElement>
  readonly preview: ReactNode
}) => {
  const isWide = useIsWide()
  return (
    <form
      className="grid items-start gap-8 lg:grid-cols-[minmax(0,40rem)_minmax(0,1fr)]"
      onSubmit={onSubmit}
    >
      <div className="flex min-w-0 flex-col gap-8">
        {children}
        {!isWide && (
          <FoldedSection title="Preview">
            <aside aria-label="Preview" className="flex min-w-0 flex-col gap-8">
              {preview}
            </aside>
          </FoldedSection>
        )}
        {footer}
      </div>
      {isWide && (
        <aside aria-label="Preview" className="sticky top-8 flex min-w-0 flex-col gap-8">
          {preview}
        </aside>
      )}
    </form>
  )
}

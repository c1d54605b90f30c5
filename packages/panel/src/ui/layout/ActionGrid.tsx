import type { ReactNode } from "react"

/** Puts the buttons of a page into two equal columns on phones, and into one row elsewhere. */
export const ActionGrid = ({ children }: { readonly children: ReactNode }) => (
  <div className="grid grid-cols-2 gap-2 sm:contents">{children}</div>
)

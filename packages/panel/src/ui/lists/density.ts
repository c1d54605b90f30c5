import { useIsPhone, useIsWide } from "../layout/screenWidth.ts"
import { createStored } from "../stored.ts"

type Density = "comfortable" | "compact"

/** The row height for all lists, as chosen in this browser. */
export const rowDensity = createStored<Density>("row-density", "compact")

const rowHeights: Readonly<Record<Density, number>> = { compact: 40, comfortable: 56 }

/**
 * Returns the row density and the row height in pixels. On phones and tablets, rows are tall enough
 * for a thumb and for two lines of text. On phones, they are as tall as their text, and `height` is
 * only an estimate.
 */
export const useRowDensity = () => {
  const chosen = rowDensity.use()
  const density = useIsWide() ? chosen : "comfortable"
  return { density, height: rowHeights[density], isFixed: !useIsPhone() }
}

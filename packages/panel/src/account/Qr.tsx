import { encodeQR } from "qr"

/**
 * A QR code, rendered in the page so that its secret is not sent to another service. It is dark on
 * light in both themes, because scanners require that.
 */
export const Qr = ({ label, text }: { readonly label: string; readonly text: string }) => {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: 3 })
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("")
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-lg"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

import { Ellipsis } from "lucide-react"
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { classes } from "../classes.ts"

/**
 * A button that opens a menu as a native popover. The menu supports the arrow keys, Home, End and
 * typing letters.
 */
export const Menu = ({
  align = "end",
  button,
  children,
  className,
  label,
  side = "bottom"
}: {
  readonly label: string
  readonly button: ReactNode
  readonly children: ReactNode
  readonly className?: string
  readonly align?: "start" | "end"
  /** The side of the button on which the menu opens if there is room. */
  readonly side?: "top" | "bottom"
}) => {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  // The items are rendered only while the menu is open. A list has one menu per row, and most are
  // never opened.
  const [isOpen, setOpen] = useState(false)
  const anchor = `--menu-${id.replaceAll(/[^\w-]/g, "")}`
  const items = () => [
    ...(menu.current?.querySelectorAll<HTMLElement>("[role^=menuitem]:not([disabled])") ?? [])
  ]

  const onKeyDown = (event: KeyboardEvent) => {
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const target = targetOf(event.key, all, at)
    if (target === undefined) return
    event.preventDefault()
    target.focus()
  }

  return (
    <>
      <button
        type="button"
        aria-haspopup="menu"
        popoverTarget={id}
        style={{ anchorName: anchor }}
        className={className}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return
          event.preventDefault()
          menu.current?.showPopover()
        }}
      >
        <span className="sr-only">{label}</span>
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        role="menu"
        aria-label={label}
        popover="auto"
        tabIndex={-1}
        onKeyDown={onKeyDown}
        onBeforeToggle={(event) => {
          // Render the items first, so that the menu is positioned with its final size.
          if (event.newState === "open") flushSync(() => setOpen(true))
        }}
        onToggle={(event) => {
          if (event.newState === "open") items()[0]?.focus({ preventScroll: true })
          else setOpen(false)
        }}
        onClick={() => menu.current?.hidePopover()}
        style={{
          positionAnchor: anchor,
          positionArea: `${side} ${align === "end" ? "span-left" : "span-right"}`,
          positionTryFallbacks: "flip-block, flip-inline"
        }}
        className="m-0 my-1 max-h-[70vh] min-w-48 overflow-auto rounded-lg border border-line bg-raised p-1 text-ink shadow-float open:appear"
      >
        {isOpen && children}
      </div>
    </>
  )
}

const targetOf = (key: string, all: ReadonlyArray<HTMLElement>, at: number) => {
  if (key === "ArrowDown") return all[(at + 1) % all.length]
  if (key === "ArrowUp") return all[(at - 1 + all.length) % all.length]
  if (key === "Home") return all[0]
  if (key === "End") return all.at(-1)
  if (key.length !== 1 || key === " ") return undefined
  const after = [...all.slice(at + 1), ...all.slice(0, at + 1)]
  return after.find((item) => item.textContent.trim().toLowerCase().startsWith(key.toLowerCase()))
}

export const menuItemClass =
  "flex w-full items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left text-base whitespace-nowrap pointer-coarse:py-2.5 outline-none hover:bg-sunken focus:bg-sunken disabled:opacity-50"

export const MenuItem = ({
  children,
  icon,
  isChecked,
  isDanger = false,
  onSelect
}: {
  readonly children: ReactNode
  readonly onSelect: () => void
  readonly icon?: ReactNode
  readonly isDanger?: boolean
  /** True if the item is an option that is on. Undefined for an action. */
  readonly isChecked?: boolean
}) => (
  <button
    type="button"
    role={isChecked === undefined ? "menuitem" : "menuitemcheckbox"}
    aria-checked={isChecked}
    tabIndex={-1}
    onClick={onSelect}
    className={classes(menuItemClass, isDanger && "text-bad")}
  >
    <span
      className={classes(
        "grid size-4 place-items-center [&_svg]:size-4",
        !isDanger && "text-faint"
      )}
    >
      {icon}
    </span>
    {children}
  </button>
)

export const MenuSeparator = () => <hr className="my-1 border-line" />

export const ActionMenu = ({
  children,
  label
}: {
  readonly label: string
  readonly children: ReactNode
}) => (
  <Menu
    label={label}
    className="grid size-8 shrink-0 place-items-center rounded-md pointer-coarse:size-10 text-faint transition-colors duration-100 hover:bg-sunken hover:text-ink"
    button={<Ellipsis className="size-4" />}
  >
    {children}
  </Menu>
)

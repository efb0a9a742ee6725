/** What the figures share: values that others can watch. */

/**
 * A value with listeners.
 * @template T
 * @param {T} value
 */
export function watched(value) {
  const listeners = new Set();
  return {
    get value() {
      return value;
    },
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener(value);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * The clusters a reader has picked; an empty set means that none is, and all are shown alike.
 * Picking adds a cluster, picking it again takes it out.
 */
export function pickedClusters() {
  const picked = watched(new Set());
  return {
    ...picked,
    get value() {
      return picked.value;
    },
    toggle(cluster) {
      const next = new Set(picked.value);
      if (!next.delete(cluster)) next.add(cluster);
      picked.set(next);
    },
    clear() {
      if (picked.value.size) picked.set(new Set());
    },
    /** Whether `cluster` stays in the background while others are picked. */
    dims(cluster) {
      return picked.value.size > 0 && !picked.value.has(cluster);
    },
  };
}

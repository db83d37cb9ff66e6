"""What one list of steps has besides those of another, as whole blocks."""


def blocks_between(steps, again):
    """[(first, last)] of what `again` lacks of `steps`, in as few blocks as can be, each as late as it can be; None where it lacks something else."""
    more = len(steps) - len(again)
    if more < 0:
        return None
    fewest = {(0, 0, False): (0, None)}  # steps, how many of them are lacking, whether the last is: blocks, and from where
    for k, name in enumerate(steps):
        for lacking in range(min(k, more) + 1):
            for was in (True, False):
                if (k, lacking, was) not in fewest:
                    continue
                blocks = fewest[k, lacking, was][0]
                follows = [((k + 1, lacking + 1, True), blocks + (not was))] if lacking < more else []
                if k - lacking < len(again) and again[k - lacking] == name:
                    follows.append(((k + 1, lacking, False), blocks))
                for place, count in follows:
                    if place not in fewest or count < fewest[place][0]:
                        fewest[place] = (count, (k, lacking, was))
    ends = [(fewest[place][0], place) for was in (True, False) if (place := (len(steps), more, was)) in fewest]
    if not ends:
        return None
    place, lacks = min(ends, key=lambda end: end[0])[1], []
    while place[0]:
        lacks += [place[0] - 1] if place[2] else []
        place = fewest[place][1]
    starts = [k for k in lacks if k - 1 not in lacks]
    ends = [k + 1 for k in lacks if k + 1 not in lacks]
    return list(zip(reversed(starts), reversed(ends)))

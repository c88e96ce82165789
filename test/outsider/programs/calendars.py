"""The days of 50 countries over ten years and of iCalendar texts, by libraries that are not ours: a line of JSON for each."""

import json
from datetime import date, timedelta

import holidays
import icalendar
import numpy
import recurring_ical_events

FIRST, LAST = date(2020, 1, 1), date(2029, 12, 31)
COUNTRIES = (
    "AE AR AT AU BD BE BG BR CA CH CL CN CO CZ DE DK EG ES FI FR GB GR HK HU ID "
    "IE IL IN IS IT JP KR MA MX MY NL NO NZ PE PH PL PT RO SA SE SG TR US VN ZA"
).split()

# The first two are examples of RFC 5545, 3.6.1; the others are what its grammar allows of events of whole days.
EVENTS = [
    "DTSTART;VALUE=DATE:19971102\nSUMMARY:Our Blissful Anniversary\nRRULE:FREQ=YEARLY",
    "DTSTART;VALUE=DATE:20070628\nDTEND;VALUE=DATE:20070709\nSUMMARY:Festival International de Jazz de Montreal",
    "DTSTART;VALUE=DATE:20200229\nRRULE:FREQ=YEARLY",
    "DTSTART;VALUE=DATE:20191224\nDTEND;VALUE=DATE:20200103\nRRULE:FREQ=YEARLY",
    "DTSTART;VALUE=DATE:20210501\nDURATION:P2W\nRRULE:FREQ=YEARLY;COUNT=3",
    "DTSTART;VALUE=DATE:20200615\nDURATION:P3D\nRRULE:FREQ=YEARLY;INTERVAL=2;UNTIL=20280615",
    "DTSTART;VALUE=DATE:20220704\nRRULE:FREQ=YEARLY;BYMONTH=7;BYMONTHDAY=4;COUNT=5",
    "DTSTART;VALUE=DATE:20230704\nSTATUS:CANCELLED",
]


def country(name):
    free = holidays.country_holidays(name, years=range(FIRST.year, LAST.year + 1))
    mask = "".join("0" if day in free.weekend else "1" for day in range(7))
    closed = [day.isoformat() for day in sorted(free)]
    text = icalendar.Calendar()
    for day, title in sorted(free.items()):
        event = icalendar.Event()
        event.add("dtstart", day)
        event.add("summary", title)
        text.add_component(event)
    days = numpy.arange(FIRST, LAST + timedelta(1), dtype="datetime64[D]")
    months = numpy.arange("2020-02", "2029-12", dtype="datetime64[M]")
    ends = (months + 1).astype("datetime64[D]") - 1
    middles = months.astype("datetime64[D]") + 14
    how = {"weekmask": mask, "holidays": closed}
    return {
        "name": name,
        "weekend": sorted(free.weekend),
        "dates": [{"date": day.isoformat(), "name": title} for day, title in sorted(free.items())],
        "ics": text.to_ical().decode(),
        "open": [str(day) for day in days[numpy.is_busday(days, **how)]],
        "previous": [str(day) for day in numpy.busday_offset(ends, 0, roll="backward", **how)],
        "next": [str(day) for day in numpy.busday_offset(middles, 0, roll="forward", **how)],
    }


def text(event):
    whole = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:oracle\nBEGIN:VEVENT\nUID:1\n{event}\nEND:VEVENT\nEND:VCALENDAR\n"
    ics = whole.replace("\n", "\r\n")
    days = set()
    if "STATUS:CANCELLED" not in event:
        for found in recurring_ical_events.of(icalendar.Calendar.from_ical(ics)).between(FIRST, LAST + timedelta(1)):
            day, end = found.start, found.end
            while day < end:
                days.add(day)
                day += timedelta(1)
    return {"ics": ics, "days": sorted(day.isoformat() for day in days if FIRST <= day <= LAST)}


print(json.dumps({"countries": [country(name) for name in COUNTRIES], "texts": [text(event) for event in EVENTS]}))
